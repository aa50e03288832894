import type { KnownController } from '../election/site-member.ts'

/** The database cannot be used. The message names it, without its password, and contains advice. */
export class DatabaseError extends Error {
  override readonly name: string = 'DatabaseError'
}

/** A newer program has created the tables. Later versions only add to them, so this one can still read them. */
export class NewerTablesError extends DatabaseError {
  override readonly name = 'NewerTablesError'
}

/** A controller is running on the site in the database. */
export class DatabaseInUseError extends DatabaseError {
  override readonly name = 'DatabaseInUseError'
}

/** Another controller has taken over the site: this controller cannot store anything any more. */
export class FencedError extends Error {
  override readonly name: string = 'FencedError'

  /** Current leader, with its address. */
  readonly by: KnownController | undefined

  constructor(holder: string, by?: KnownController) {
    super(`another controller leads this site now${holder === '' ? '' : ` (${holder})`}`)
    this.by = by
  }
}

/** This controller has handed the site over to another one, as requested. */
export class HandedOverError extends FencedError {
  override readonly name = 'HandedOverError'
}
