import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { notesFile } from './note.ts'

const dayName = /^\d{4}-\d{2}-\d{2}$/

/**
 * Removes the oldest days of a stream as far as they hold no recordings any more, only notes. Never rejects: what is left is removed with the next one.
 * @param folder of the stream @param before only days that are over by then; left out: all
 */
export async function removeNotedDays(folder: string, before?: Date): Promise<void> {
  const limit = before?.toISOString().slice(0, 10)
  try {
    const days = (await readdir(folder)).filter((name) => dayName.test(name)).sort()
    for (const day of days) {
      if (limit !== undefined && day >= limit) return
      const names = await readdir(join(folder, day))
      if (names.some((name) => name !== notesFile)) return
      await rm(join(folder, day), { recursive: true })
    }
  } catch {
    // The disk refuses, or a recording came meanwhile.
  }
}
