export type Command = readonly [program: string, ...args: string[]]

/** One step of installing or removing a service, in order. */
export type ServiceStep =
  /** A folder created by another user than root is refused if `mustBeOurs` is set. */
  | { kind: 'folder'; path: string; mode: number; mustBeOurs?: boolean }
  | { kind: 'file'; path: string; content: string; mode: number }
  | { kind: 'copy'; from: string; to: string }
  | { kind: 'remove'; path: string }
  /**
   * `optional`: it may fail, because there may be nothing to undo. `refusal`: meaning of its failure, as a message for
   * the operator.
   */
  | { kind: 'run'; command: Command; optional?: boolean; refusal?: string }

/** All steps that install and remove a service on one system. */
export interface ServicePlan {
  install: readonly ServiceStep[]
  remove: readonly ServiceStep[]
  /** File that exists while the service is installed. */
  mark: string
  dataFolder: string
  log: string
}

/** Properties of the machine and options of the operator. */
export interface ServiceRequest {
  program: string
  /** Flags with which the headless controller is started, without the data folder. */
  flags: readonly string[]
  /** Data folder specified by the operator; undefined: the default of the service. */
  dataFolder: string | undefined
}

/** Time within which the service must end gracefully, in milliseconds: its store is flushed within 12 s. */
export const stopMs = 20_000

/** Escapes text for an XML element. */
export const xmlText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
