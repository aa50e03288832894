import type { KnownController } from '../election/site-member.ts'

/** Thrown when the database cannot be used. The message contains the address without the password, and advice. */
export class DatabaseError extends Error {
  override readonly name: string = 'DatabaseError'
}

/**
 * Thrown when a newer program has created the tables. Newer programs only add to the tables, so this program can still
 * read them.
 */
export class NewerTablesError extends DatabaseError {
  override readonly name = 'NewerTablesError'
}

/** Thrown when a controller is running on the site in the database. */
export class DatabaseInUseError extends DatabaseError {
  override readonly name = 'DatabaseInUseError'
}

/** Thrown when another controller has taken over the site: from then on, this controller cannot store changes. */
export class FencedError extends Error {
  override readonly name: string = 'FencedError'

  /** Current leader, with its address. */
  readonly by: KnownController | undefined

  constructor(holder: string, by?: KnownController) {
    super(`another controller leads this site now${holder === '' ? '' : ` (${holder})`}`)
    this.by = by
  }
}

/** Error of a controller that has handed the site over to another controller, as requested. */
export class HandedOverError extends FencedError {
  override readonly name = 'HandedOverError'
}
