package langintel

// metals is the server for Scala. It asks before it imports a build, which has
// nobody to answer here.
func metals() Spec {
	return Spec{
		Name:      "metals",
		Languages: []Language{{ID: "scala", Patterns: []string{"*.scala", "*.sbt", "*.sc", "*.mill"}}},
		Roots:     []string{"build.sbt", "build.sc", "build.mill", "project.scala", "pom.xml", "build.gradle", "build.gradle.kts"},
		Program:   "metals",
		Install:   &Install{Hint: "`cs install metals` (Coursier) installs it"},
		RunsCode:  "it runs the project's build",
		Section:   "metals",
		Settings:  []byte(`{"automaticImportBuild":"all"}`),
	}
}
