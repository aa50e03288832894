import type { Trial } from './trial.ts'
import type { Source } from './verdict.ts'

/** A rule of the API. */
export interface Rule {
  /** Unique: operation or subject, then the condition, such as `create_room.topic.too-long`. */
  id: string
  /** Condition and expected answer, for people. */
  sentence: string
  source: Source
  /** Provokes the condition. @throws BrokenRuleError, NotProvokedError, NoReplyError; the signal's reason */
  check: (trial: Trial) => Promise<void>
}

/** Rules with a common subject. */
export interface RuleGroup {
  title: string
  rules: readonly Rule[]
}
