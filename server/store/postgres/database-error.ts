import type { KnownController } from '../election/site-member.ts'

/** The database cannot be used as it is: the message names it, without its password, and says what to mend. */
export class DatabaseError extends Error {
  override readonly name: string = 'DatabaseError'
}

/** A newer program has set up the tables. Later versions only add to them, so that this one can still read. */
export class NewerTablesError extends DatabaseError {
  override readonly name = 'NewerTablesError'
}

/** A controller runs on the site that the database holds. */
export class DatabaseInUseError extends DatabaseError {
  override readonly name = 'DatabaseInUseError'
}

/** Another controller has taken over the site: nothing of ours is stored any more. */
export class FencedError extends Error {
  override readonly name: string = 'FencedError'

  /** Controller that leads now, with its address. */
  readonly by: KnownController | undefined

  constructor(holder: string, by?: KnownController) {
    super(`another controller leads this site now${holder === '' ? '' : ` (${holder})`}`)
    this.by = by
  }
}

/** This controller has handed the site over to another one, as somebody wanted. */
export class HandedOverError extends FencedError {
  override readonly name = 'HandedOverError'
}
