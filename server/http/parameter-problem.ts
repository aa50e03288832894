import type { z } from 'zod'
import { speakName } from './parameters.ts'

/** A refused parameter in one plain sentence. */
export interface ParameterProblem {
  /** Its name. */
  field: string
  /** Names the parameter, never its value. */
  message: string
}

type Issue = z.core.$ZodIssue

/** Message about the first wrong parameter, in the order of the schema. `input` is the parsed input. */
export function parameterProblem(error: z.core.$ZodError, input: Readonly<Record<string, unknown>>): ParameterProblem {
  const issue = error.issues[0]
  const field = String(issue?.path[0] ?? '')
  const name = speakName(field)
  if (issue === undefined) return { field, message: 'A parameter is malformed.' }
  if (input[field] === undefined) return { field, message: `${name} is missing.` }
  return { field, message: `${name} ${expectation(issue)}.` }
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'string'
        ? 'must be text'
        : issue.message.startsWith('must')
          ? issue.message
          : 'is malformed'
    case 'too_big':
      return issue.message.startsWith('must') ? issue.message : `must be at most ${issue.maximum} characters long`
    case 'invalid_union': {
      // The alternative that got furthest says best what is wrong; an own message of the union comes before it.
      if (issue.message.startsWith('must')) return issue.message
      const inner = issue.errors.flat().find((alternative) => alternative.code !== 'invalid_type')
      return inner === undefined ? 'is of the wrong type' : expectation(inner)
    }
    default:
      return issue.message.startsWith('must') ? issue.message : 'is malformed'
  }
}
