"""Users of Kerberos principals: Hadoop's documented rules, what they refuse, and rules that are none."""

import pytest

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access.kerberos_names import KerberosRules, service_principal

REALM = "EXAMPLE.COM"


@pytest.mark.parametrize(
    ("rules", "principal", "user"),
    [
        ("DEFAULT", "alice@EXAMPLE.COM", "alice"),
        ("DEFAULT", "hive/host.example.com@EXAMPLE.COM", "hive"),
        ("RULE:[1:$1]", "alice@OTHER.ORG", "alice"),
        ("RULE:[2:$1]", "hive/host@OTHER.ORG", "hive"),
        ("RULE:[2:$1@$0](.*@OTHER.ORG)s/@.*//", "hive/host@OTHER.ORG", "hive"),
        ("RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "alice/admin@EXAMPLE.COM", "alice"),
        ("RULE:[2:$2](root)\nDEFAULT", "any/root@EXAMPLE.COM", "root"),
        ("RULE:[2:$1@$0]([dn]n@EXAMPLE.COM)s/.*/hdfs/ DEFAULT", "nn/host@EXAMPLE.COM", "hdfs"),
        ("RULE:[2:$1@$0]([dn]n@EXAMPLE.COM)s/.*/hdfs/ DEFAULT", "xn/host@EXAMPLE.COM", "xn"),
        ("RULE:[1:$1@$0](.*@EXAMPLE.COM)s/@.*///L", "Alice@EXAMPLE.COM", "alice"),
        ("RULE:[1:$1]/L", "Alice@EXAMPLE.COM", "alice"),
        ("RULE:[1:$1]s/a/b/g", "banana@EXAMPLE.COM", "bbnbnb"),
        ("RULE:[1:$1]s/a/b/", "banana@EXAMPLE.COM", "bbnana"),
        (r"RULE:[1:$1]s/(\w+)\.(\w+)/$2_$1/", "ada.lovelace@EXAMPLE.COM", "lovelace_ada"),
        (r"RULE:[1:$1]s/x/\$1\\y/", "x@EXAMPLE.COM", r"$1\y"),
        ("RULE:[1:$1](bob)s/.*/first/ RULE:[1:$1]s/.*/second/", "alice@EXAMPLE.COM", "second"),
        ("RULE:[1:$1](bob)s/.*/first/ RULE:[1:$1]s/.*/second/", "bob@EXAMPLE.COM", "first"),
    ],
)
def test_the_first_rule_about_a_principal_makes_its_user(rules: str, principal: str, user: str) -> None:
    assert KerberosRules(rules, REALM).user(principal) == user


@pytest.mark.parametrize(
    ("rules", "principal", "sentence"),
    [
        ("DEFAULT", "alice@OTHER.ORG", "no rule of the setting kerberos_rules is about the principal alice@OTHER.ORG"),
        ("DEFAULT", "WELLKNOWN/ANONYMOUS@WELLKNOWN:ANONYMOUS", "no rule"),
        ("RULE:[1:$1](ali)", "alice@EXAMPLE.COM", "no rule"),
        ("RULE:[2:$1]", "alice@EXAMPLE.COM", "no rule"),
        ("RULE:[1:$1@$0]", "alice@EXAMPLE.COM", "must make a user of alice@EXAMPLE.COM, found 'alice@EXAMPLE.COM'"),
        ("RULE:[1:$1]s/.*//g", "alice@EXAMPLE.COM", "must make a user"),
        ("DEFAULT", "alice", "a principal must be NAME@REALM or NAME/HOST@REALM"),
        ("DEFAULT", "alice/a/b@EXAMPLE.COM", "a principal must be"),
        ("DEFAULT", r"root\/x@EXAMPLE.COM", "a principal must be"),
        ("DEFAULT", r"root\@EXAMPLE.COM@OTHER.ORG", "a principal must be"),
        ("DEFAULT", "a" * 2_000 + "@EXAMPLE.COM", "a principal must be"),
    ],
)
def test_a_principal_without_a_user_proves_nobody(rules: str, principal: str, sentence: str) -> None:
    with pytest.raises(NotAuthenticated) as error:
        KerberosRules(rules, REALM).user(principal)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    "rules",
    [
        "",
        " ",
        "default",
        "RULE:[1:$2]",
        "RULE:[1:$]",
        "RULE:[x:$1]",
        "RULE:[1:$1](()",
        "RULE:[1:$1]s/a/$1/",
        "DEFAULT x",
    ],
)
def test_rules_that_are_none_are_refused_at_the_start(rules: str) -> None:
    with pytest.raises(SettingsError, match="kerberos_rules"):
        KerberosRules(rules, REALM)


def test_a_service_has_three_parts_and_this_machines_name() -> None:
    assert service_principal("hive/localhost@EXAMPLE.COM") == "hive/localhost@EXAMPLE.COM"
    host = service_principal("hive/_HOST@EXAMPLE.COM").removeprefix("hive/").removesuffix("@EXAMPLE.COM")
    assert host
    assert host == host.lower()
    for wrong in ("hive", "hive/localhost", "hive@EXAMPLE.COM", "a/b/c@EXAMPLE.COM"):
        with pytest.raises(SettingsError, match="SERVICE/HOST@REALM"):
            service_principal(wrong)
