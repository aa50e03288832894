export type Command = readonly [program: string, ...args: string[]]

/** Step of installing or removing a service. */
export type ServiceStep =
  /** `mustBeOurs`: an existing folder that another user than root owns is refused. */
  | { kind: 'folder'; path: string; mode: number; mustBeOurs?: boolean }
  | { kind: 'file'; path: string; content: string; mode: number }
  | { kind: 'copy'; from: string; to: string }
  | { kind: 'remove'; path: string }
  /**
   * `optional`: a failure is ignored, because there may be nothing to undo. `refusal`: message for the operator if the
   * command fails.
   */
  | { kind: 'run'; command: Command; optional?: boolean; refusal?: string }

/** Steps that install and remove the service on one system. */
export interface ServicePlan {
  install: readonly ServiceStep[]
  remove: readonly ServiceStep[]
  /** File that exists while the service is installed. */
  mark: string
  dataFolder: string
  log: string
}

/** Program and options from which a `ServicePlan` is made. */
export interface ServiceRequest {
  program: string
  /** Flags with which the headless controller is started, without the data folder. */
  flags: readonly string[]
  /** Data folder specified by the operator; undefined: the default of the service. */
  dataFolder: string | undefined
}

/** Time within which the service must end gracefully, in milliseconds: its store is flushed within 12 s. */
export const stopMs = 20_000

/** Escapes text for the content of an XML element. */
export const xmlText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
