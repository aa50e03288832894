export interface DatabaseResult<Row extends object> {
  rows: Row[]
  rowCount: number | null
}

/** A statement with values; a named statement is prepared once. */
export interface DatabaseStatement {
  text: string
  values: unknown[]
  name?: string
}

/** One connection to a PostgreSQL server, with the functions of `pg` that are used. */
export interface DatabaseClient {
  /**
   * Process id of the server's backend, received at connect. A connection pooler sends its own number. 0: not connected
   * yet.
   */
  readonly processId: number
  /** Rejects when the server does not accept the connection within the deadline. */
  connect(): Promise<void>
  query<Row extends object>(statement: string | DatabaseStatement): Promise<DatabaseResult<Row>>
  /** Closes the connection properly. */
  end(): Promise<void>
  /** Closes the socket at once. */
  destroy(): void
  onError(listener: (error: Error) => void): void
  onEnd(listener: () => void): void
  /** @param listener called with the payload of each NOTIFY on a channel to which this connection listens */
  onNotification(listener: (payload: string) => void): void
  /**
   * @param listener called with notices of the server during a statement. `code`: SQLSTATE; the code of a warning
   * begins with 01
   */
  onNotice(listener: (notice: { code: string; message: string }) => void): void
}
