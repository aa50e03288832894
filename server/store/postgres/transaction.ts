import type { Session } from './database-session.ts'

/**
 * Runs statements in one transaction: all of them count, or none.
 * @param mode what follows `begin`, such as an isolation level
 * @throws what `work` throws, what the database says
 */
export async function inTransaction<T>(session: Session, work: () => Promise<T>, mode = ''): Promise<T> {
  await session.query(`begin ${mode}`)
  try {
    const result = await work()
    await session.commit('commit')
    return result
  } catch (error) {
    // The first error is reported; a lost connection rolls back.
    if (session.lost === undefined) await session.query('rollback').catch(() => undefined)
    throw error
  }
}
