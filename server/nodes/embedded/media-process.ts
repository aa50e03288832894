import type { ControlMessage } from '../../../shared/media/control-link.ts'

/** The process of the embedded node, as its controller holds it: `child_process.fork` under Node, `utilityProcess` under Electron. */
export interface MediaProcess {
  /** Undefined before it runs and after its end. */
  readonly pid: number | undefined
  /** Nothing happens when it has ended. */
  send(message: ControlMessage): void
  onMessage(listener: (message: unknown) => void): void
  /** Called once, also when it could not be started; `why` is for the operator, e.g. `it ended with exit code 1`. */
  onExit(listener: (why: string) => void): void
  /** Ends it at once. */
  kill(): void
}

/** Starts the program of the embedded node. */
export type SpawnMediaProcess = () => MediaProcess
