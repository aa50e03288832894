import { readdir } from 'node:fs/promises'
import { insideOf, type OwnPath } from '../../../shared/files/own-path.ts'
import { refuseLinks, removeInside } from '../../../shared/files/real-path.ts'
import { notesFile } from './note.ts'

const dayName = /^\d{4}-\d{2}-\d{2}$/

/**
 * Removes the oldest days of a stream as far as they hold no recordings any more, only notes. Never rejects: what is left is removed with the next one.
 * @param recordings the recordings folder @param folder of the stream in it @param before only days that are over by then; left out: all
 */
export async function removeNotedDays(recordings: string, folder: OwnPath, before?: Date): Promise<void> {
  const limit = before?.toISOString().slice(0, 10)
  try {
    await refuseLinks(recordings, folder)
    const days = (await readdir(folder)).filter((name) => dayName.test(name)).sort()
    for (const day of days) {
      if (limit !== undefined && day >= limit) return
      const path = insideOf(folder, day)
      const names = await readdir(path)
      if (names.some((name) => name !== notesFile)) return
      await removeInside(recordings, path, { recursive: true })
    }
  } catch {
    // The disk refuses, or a recording came meanwhile.
  }
}
