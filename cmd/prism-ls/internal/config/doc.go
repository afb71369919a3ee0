// Package config turns files, environment and flags into one [Config]. Nothing
// else of prism-ls reads the environment.
//
// Settings are layered: built-in values, the user's file, the workspace's
// prism-ls.toml, flags. Later wins, tables merge, arrays replace. What a
// workspace's file says is narrower: it may take authority away, and neither
// give it nor name a program, until a person has trusted that very file
// ([TrustFile]). Cloning a hostile repository must not run anything.
package config
