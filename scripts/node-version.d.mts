export declare function bundledNode(system?: string, packages?: string): string | undefined
