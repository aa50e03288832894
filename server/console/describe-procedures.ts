import { z } from 'zod'
import { procedures } from '../../shared/console/contract.ts'
import { consoleRefusal } from '../../shared/domain/outcome.ts'
import { complaints } from '../../shared/refusals/complaints.ts'
import { refusals } from '../../shared/refusals/refusal.ts'
import { placeholders } from '../../shared/refusals/template.ts'

let described: unknown

/**
 * Describes every procedure with the JSON Schemas of its input and output, the schema of a refusal, and all names of
 * refusals and field problems.
 */
export function describeProcedures(): unknown {
  described ??= {
    procedures: Object.entries(procedures).map(([name, { summary, input, output, access, effect, passedOn }]) => ({
      name,
      summary,
      ...{ ...access, effect, passedOn },
      input: z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }),
      output: z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }),
    })),
    error: z.toJSONSchema(consoleRefusal),
    errors: Object.entries(refusals).map(([name, [code, message]]) => ({
      ...{ name, code, message },
      values: placeholders(message),
    })),
    problems: Object.entries(complaints).map(([name, message]) => ({ name, message, values: placeholders(message) })),
  }
  return described
}
