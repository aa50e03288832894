import { join } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import { system } from '../system/system.ts'
import type { RoomNumberRecord } from './room-number-blocks.ts'
import type { StoreLogger } from '../notices.ts'

/** In the data folder of a controller of a site in a database. */
const roomNumberFileName = 'room-numbers.txt'

/**
 * The highest room number that was reserved as far as this controller knows, in its data folder: a dump that is put back while all controllers are stopped takes the database's own note of it away.
 * What cannot be written is logged: the database has it.
 * @throws what the file system says when it cannot be read
 */
export async function openRoomNumberFile(folder: string, logger: StoreLogger | undefined): Promise<RoomNumberRecord> {
  const path = join(folder, roomNumberFileName)
  let highest = await read(path)
  let given = highest
  let written = Promise.resolve()
  const set = (number: number): Promise<void> => {
    if (number === highest) return written
    highest = number
    // One after the other: the last one counts.
    written = written
      .then(() => system().files.replace(path, `${number}\n`))
      .catch((error: unknown) => logger?.warn({ err: error }, `${path} cannot be written.`))
    return written
  }
  return {
    get highest() {
      return highest
    },
    keep: (reserved) => set(Math.max(highest, reserved)),
    giveBack: (number) => set(Math.max(given, number)),
    given: (number) => {
      given = Math.max(given, number)
    },
  }
}

async function read(path: string): Promise<number> {
  try {
    const text = await system().files.readText(path)
    return /^\d{1,15}\n$/.test(text) ? Number(text) : 0
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0
    throw error
  }
}
