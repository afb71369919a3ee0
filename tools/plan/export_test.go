package plan

// At lets a test hear of every durable step of a goal.
func (o *GoalOptions) At(hear func(step string)) { o.at = hear }
