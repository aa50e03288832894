import type { z } from 'zod'
import { type Complaint, complaint, complaintOfRule } from '../refusals/complaints.ts'
import { type Refusal, refusal } from '../refusals/refusal.ts'
import { type FieldProblem, problemAt } from './outcome.ts'

/** Maximum number of problems in a response. */
const maxProblems = 50

/** Returns the problems that a schema found in an input, by field. */
export function problemsOf(error: z.core.$ZodError, input: unknown): FieldProblem[] {
  return error.issues.slice(0, maxProblems).flatMap((issue) => {
    const found = complaintOfIssue(issue, valueAt(input, issue.path))
    const keys = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, maxProblems) : [undefined]
    return keys.map((key) =>
      problemAt([...issue.path, ...(key === undefined ? [] : [key])].map(String).join('.'), found),
    )
  })
}

/** Returns the refusal of an input with these problems; its text is that of the first problem. */
export function refusalOfInput([first]: readonly FieldProblem[]): Refusal {
  return first === undefined || first.path === ''
    ? refusal('inputMalformed')
    : refusal('inputInvalid', { field: first.path, problem: first.message })
}

/** Converts an issue of zod to a complaint. @param value value in which the issue was found */
export function complaintOfIssue(issue: z.core.$ZodIssue, value: unknown): Complaint {
  return complaintOfRule(issue.message) ?? complaintOfKind(issue, value)
}

function complaintOfKind(issue: z.core.$ZodIssue, value: unknown): Complaint {
  switch (issue.code) {
    case 'invalid_type':
      return complaint(value === undefined || value === null ? 'missing' : 'type')
    case 'too_small': {
      const min = String(issue.minimum)
      if (issue.origin === 'string') return complaint('longer', { min })
      return issue.origin === 'array' ? complaint('more', { min }) : complaint('atLeast', { min })
    }
    case 'too_big': {
      const max = String(issue.maximum)
      if (issue.origin === 'string') return complaint('shorter', { max })
      return issue.origin === 'array' ? complaint('fewer', { max }) : complaint('atMost', { max })
    }
    case 'invalid_format':
      return complaint(issue.format === 'date' || issue.format === 'datetime' ? 'date' : 'malformed')
    case 'unrecognized_keys':
      return complaint('unknownField')
    case 'invalid_value':
      return complaint(value === undefined ? 'missing' : 'notOffered')
    default:
      return complaint('malformed')
  }
}

/** Returns the part of an input at a path; undefined: missing. */
function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, key)
  }
  return value
}
