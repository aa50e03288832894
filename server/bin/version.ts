import packageFile from '../../package.json' with { type: 'json' }

/** Version of the product, as the package names it. */
export const productVersion: string = packageFile.version
