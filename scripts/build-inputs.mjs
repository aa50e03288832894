// Files that the build reads: ensure-build.mjs looks at them, and vite.config.ts fails for a file that is missing here.
import { relative, sep } from 'node:path'

export const inputFolders = [
  'shared',
  'server',
  'main',
  'renderer',
  'texts',
  'clients/typescript/src',
  'assets',
  'packaging/licences',
  'packaging/help',
  'packaging/pages',
  'docs/operate',
  'docs/integrate',
  'docs/use',
]
export const inputFiles = [
  'CHANGELOG.md',
  'docs/glossary.md',
  'uno.config.ts',
  'vite.config.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'scripts/build-inputs.mjs',
]

/** @param {string} root folder of the project @param {string} path absolute, or with an index of Vite's own in front @returns {boolean} */
export function isBuildInput(root, path) {
  const name = relative(root, path).split(sep).join('/')
  return inputFiles.includes(name) || inputFolders.some((folder) => name === folder || name.startsWith(`${folder}/`))
}
