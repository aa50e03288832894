import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { packageFolder } from './package-folder.ts'

/** File below `dist` in which the builds note the packages that they read. */
export const notesFolder = '.packages'

/**
 * Notes which packages a build read, so that the licences of all of them can come along: also those of which nothing
 * was left in the end.
 * @param dist the folder of all builds
 * @param name of the build; left out: its environment's
 */
export function notePackages(dist: string, name?: string): Plugin {
  return {
    name: 'roomdesk:note-packages',
    apply: 'build',
    buildEnd(error) {
      if (error) return
      const folders = new Set<string>()
      for (const id of this.getModuleIds()) {
        const folder = packageFolder(id)
        if (folder !== undefined) folders.add(folder)
      }
      mkdirSync(join(dist, notesFolder), { recursive: true })
      const file = join(dist, notesFolder, `${name ?? this.environment.name}.json`)
      writeFileSync(file, JSON.stringify([...folders].sort()))
    },
  }
}
