import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../files/durable-files.ts'
import { renameFile } from './rename-file.ts'

/** Small files of the data folder. Errors are those of Node's file system. */
export interface SmallFiles {
  readText(path: string): Promise<string>
  /** On disk, whole, when it resolves; the file from before stays when it rejects. Only its owner may read it. */
  replace(path: string, text: string): Promise<void>
  /** Does nothing where there is none. */
  remove(path: string): Promise<void>
}

/** Those of the machine itself. */
export const ownFiles: SmallFiles = {
  readText: (path) => readFile(path, 'utf8'),
  replace: async (path, text) => {
    const temporary = `${path}.tmp`
    await writeFile(temporary, text, { mode: 0o600, flush: true })
    await renameFile(temporary, path)
    await syncFolder(dirname(path))
  },
  remove: async (path) => {
    await rm(path, { force: true })
    await syncFolder(dirname(path))
  },
}
