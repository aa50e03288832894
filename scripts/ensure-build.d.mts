/** Builds what is older than its sources: resolves to whether it built. @throws Error of one line when the build fails */
export declare function ensureBuild(options?: { force?: boolean }): Promise<boolean>
