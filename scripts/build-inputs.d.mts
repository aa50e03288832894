/** Whether a file or folder of the project is one whose change makes the build stale. */
export declare function isBuildInput(root: string, path: string): boolean
