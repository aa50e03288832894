import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type EventDraft, EventLog, type EventLogOptions } from '../../../server/event-log/event-log.ts'
import { createLog } from '../../../server/observe/log.ts'
import { eventsFolder } from '../../../server/store/backups/backup-events.ts'
import { sealer } from './store-site.ts'

/** Opens the log of a data folder; closed with the test. */
export async function openLog(folder: string, options: Partial<EventLogOptions> = {}): Promise<EventLog> {
  const bounds = () => ({ days: 90, megabytes: 200 })
  const log = await EventLog.open({ dataFolder: folder, sealer, logger: createLog('silent'), bounds, ...options })
  onTestFinished(() => log.close())
  return log
}

/** Makes an event: a user joined a room. */
export const joined = (id: string, room = 'lobby'): EventDraft => ({
  kind: 'person.joined',
  subject: { type: 'person', id, name: `Person ${id}` },
  room,
})

/** Lists the files of the log with entries, oldest first. */
export async function segmentFiles(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, eventsFolder))
  return names
    .filter((name) => name.startsWith('events-'))
    .sort()
    .map((name) => join(folder, eventsFolder, name))
}

/** Changes the newest file of the log, as with an editor. */
export async function edit(folder: string, change: (lines: string[]) => string[], file = -1): Promise<void> {
  const path = (await segmentFiles(folder)).at(file)
  if (path === undefined) throw new Error('the log has no files')
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  await writeFile(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  )
}
