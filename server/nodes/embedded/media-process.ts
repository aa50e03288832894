import type { ControlMessage } from '../../../shared/media/control-link.ts'

/**
 * The process of the embedded node, for its controller: `child_process.fork` under Node, `utilityProcess` under
 * Electron.
 */
export interface MediaProcess {
  /** Process id; undefined before the process runs and after it has ended. */
  readonly pid: number | undefined
  /** Does nothing if the process has ended. */
  send(message: ControlMessage): void
  /**
   * Calls the listener with the data of GatheredMessages: one message or several. Messages received before the call are
   * delivered at once. A later listener replaces an earlier one.
   */
  onMessage(listener: (received: unknown) => void): void
  /**
   * Calls the listener once, also if the process could not be started. `why` is for the operator, e.g. `it ended with
   * exit code 1`. A later listener replaces an earlier one.
   */
  onExit(listener: (why: string) => void): void
  kill(): void
}

/** Starts the program of the embedded node. */
export type SpawnMediaProcess = () => MediaProcess
