import { join } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import { system } from '../system/system.ts'
import type { RoomNumberRecord } from './room-number-blocks.ts'
import type { StoreLogger } from '../notices.ts'

/** File in the data folder of a controller whose site is in a database. */
const roomNumberFileName = 'room-numbers.txt'

/**
 * Opens the file with this controller's record of the highest reserved room number. If a dump is restored while all
 * controllers are stopped, the database loses its own record of that number.
 * Failures to write are only logged, because the database has the number too.
 * @throws errors of the file system when the file cannot be read
 */
export async function openRoomNumberFile(folder: string, logger: StoreLogger | undefined): Promise<RoomNumberRecord> {
  const path = join(folder, roomNumberFileName)
  let highest = await read(path)
  let given = highest
  let written = Promise.resolve()
  const set = (number: number): Promise<void> => {
    if (number === highest) return written
    highest = number
    // Writes run one at a time; the last number wins.
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
