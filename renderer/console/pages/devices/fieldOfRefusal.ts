import { CallError } from '../../../kit/transport/transport.ts'

/** Beginnings of refusals that belong to a field although the controller names none. */
const fields: readonly (readonly [beginning: string, field: string])[] = [
  ['There is no such room', 'roomId'],
  ['The room is closed', 'roomId'],
  ['A user with this userId exists', 'userId'],
]

/** Runs a call and adds the field to a refusal that belongs to one. */
export async function atField<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof CallError) || error.problems.length > 0) throw error
    const field = fields.find(([beginning]) => error.message.startsWith(beginning))?.[1]
    if (field === undefined) throw error
    throw new CallError(error.code, error.message, [{ path: field, message: error.message }])
  }
}
