/** Answer of the server to a statement. */
export interface DatabaseResult<Row extends object> {
  rows: Row[]
  rowCount: number | null
}

/** A statement with values; with a name it is prepared once. */
export interface DatabaseStatement {
  text: string
  values: unknown[]
  name?: string
}

/** One connection to a PostgreSQL server, as `pg` offers it. */
export interface DatabaseClient {
  /** Process that serves it, as it was told when it was let in; a pool before the server tells a number of its own. 0: not let in yet. */
  readonly processId: number
  /** Rejects when the server does not let it in by then. */
  connect(): Promise<void>
  query<Row extends object>(statement: string | DatabaseStatement): Promise<DatabaseResult<Row>>
  /** Ends it in order. */
  end(): Promise<void>
  /** Cuts it. */
  destroy(): void
  onError(listener: (error: Error) => void): void
  onEnd(listener: () => void): void
  /** @param listener called with the payload of a NOTIFY on a channel that this connection listens to */
  onNotification(listener: (payload: string) => void): void
  /** @param listener called with what the server remarks while it carries out a statement. `code`: its SQLSTATE; a warning's begins with 01 */
  onNotice(listener: (notice: { code: string; message: string }) => void): void
}
