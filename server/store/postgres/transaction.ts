import type { DatabaseSession } from './database-session.ts'

/**
 * Runs statements in one transaction.
 * @param mode text after `begin`, such as an isolation level
 * @throws the errors of `work` and of the database
 */
export async function inDatabaseTransaction<T>(
  session: DatabaseSession,
  work: () => Promise<T>,
  mode = '',
): Promise<T> {
  await session.query(`begin ${mode}`)
  try {
    const result = await work()
    await session.commit('commit')
    return result
  } catch (error) {
    // The first error is the one to report; a lost connection rolls back.
    if (session.lost === undefined) await session.query('rollback').catch(() => undefined)
    throw error
  }
}
