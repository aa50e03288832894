import { CallError } from '../../../kit/transport/transport.ts'

/** Fields to which refusals belong, by the refusal's name. */
const fields: Readonly<Record<string, string>> = {
  roomNotFound: 'roomId',
  roomClosed: 'roomId',
  userExists: 'userId',
}

/** Runs a call. Adds the field to a refusal that belongs to one. */
export async function atField<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof CallError) || error.problems.length > 0) throw error
    const { code, message, refusal: name, values } = error
    const path = fields[name]
    if (path === undefined) throw error
    throw new CallError(code, message, [{ path, message, name, values: { ...values } }], { name, values })
  }
}
