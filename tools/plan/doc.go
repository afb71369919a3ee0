// Package plan has what outlasts an agent's conversation: the plan of a task, what is
// recorded of how far it is, and the questions that wait for a person.
//
// A plan is Markdown in the workspace, plans/TASK.md, which a person may edit as well:
//
//	files, err := plan.NewFiles(ws, plan.Limits{})
//	file, err := files.Write(ctx, "flaky-test", plan.Draft{
//		Title: "Mend the flaky test", Goal: "It passes 1000 times.",
//		Todos: []plan.Todo{{ID: "find", Text: "Find the race"}, {ID: "test", Text: "The tests pass"}},
//	}, "")
//	done := true
//	file, err = files.Edit(ctx, "flaky-test", plan.Edit{ID: "find", Done: &done}, file.SHA256)
//
// An edit changes the item and no other byte.
package plan
