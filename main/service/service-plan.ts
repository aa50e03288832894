/** A command with its arguments. */
export type Command = readonly [program: string, ...args: string[]]

/** One step of installing or removing a service, in its order. */
export type ServiceStep =
  /** A folder that another user than root made is refused where `mustBeOurs`. */
  | { kind: 'folder'; path: string; mode: number; mustBeOurs?: boolean }
  | { kind: 'file'; path: string; content: string; mode: number }
  | { kind: 'copy'; from: string; to: string }
  | { kind: 'remove'; path: string }
  /** `optional`: it may fail, because there may be nothing to undo. `refusal`: what its failure means, as a sentence for the operator. */
  | { kind: 'run'; command: Command; optional?: boolean; refusal?: string }

/** Everything that installs and removes a service of one system. */
export interface ServicePlan {
  install: readonly ServiceStep[]
  remove: readonly ServiceStep[]
  /** File that exists while the service is installed. */
  mark: string
  /** Folder of the site. */
  dataFolder: string
  /** Log of the service. */
  log: string
}

/** Facts of the machine and wishes of the operator. */
export interface ServiceRequest {
  /** Executable of the packaged app. */
  program: string
  /** Flags of the headless controller that the service is started with, without the data folder. */
  flags: readonly string[]
  /** Data folder that the operator named; left out: that of the service. */
  dataFolder: string | undefined
}

/** Time within which the service must end in order, in milliseconds: its store is flushed within 12 s. */
export const stopMs = 20_000

/** Writes text into an XML element. */
export const xmlText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
