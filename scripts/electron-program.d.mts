export declare function installedProgram(home: string): string | undefined
export declare function hasNoSandbox(root: string, folder: string): boolean

/** Facts that decide whether a window opens; what is left out is of this process and machine. */
export interface Session {
  /** Folder of the system's files. */
  root?: string
  /** Folder of Electron's distribution. */
  folder?: string
  env?: NodeJS.ProcessEnv
  flags?: readonly string[]
  uid?: number | undefined
}

export declare function noWindow(session?: Session): { reason: string; mend: string } | undefined
