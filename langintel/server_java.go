package langintel

import "github.com/go-json-experiment/json/jsontext"

// jdtls is Eclipse's server for Java. The script of that name keeps the index of
// each project in the user's cache.
func jdtls() Spec {
	return Spec{
		Name: "jdtls", Title: "Eclipse JDT Language Server",
		Languages: []Language{{ID: "java", Patterns: []string{"*.java"}}},
		Roots:     []string{"mvnw", "gradlew", "settings.gradle", "settings.gradle.kts", "pom.xml", "build.gradle", "build.gradle.kts", "build.xml"},
		Program:   "jdtls",
		Install:   &Install{Hint: "`brew install jdtls`, or a milestone of eclipse.dev/downloads for jdtls, installs it"},
		RunsCode:  "it runs Gradle's build scripts, and annotation processors",
		Section:   "java",
		Settings:  jsontext.Value(`{"autobuild":{"enabled":true}}`),
		Degraded: func(p Project) string {
			for _, name := range []string{"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", ".classpath"} {
				if p.Has(name) {
					return ""
				}
			}
			return "there is no build file of Maven or Gradle: each file is looked at with the JDK's classes only"
		},
	}
}
