export declare function installedProgram(home: string): string | undefined
export declare function hasNoSandbox(root: string, folder: string): boolean
