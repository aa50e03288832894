/**
 * A controller that stands by, in a process of its own: it follows a site, and tells how long each room took from its creation into this memory.
 * Arguments: data folder, address of the database, file with the site's key. Prints `follows`, and on SIGTERM a line of JSON: the milliseconds of every room.
 */
import { createLog } from '../../../server/observe/log.ts'
import { openMember } from '../../../server/store/postgres/open-member.ts'
import { createSealer, loadKeyFile } from '../../../server/store/sealer.ts'

const [folder = '', database = '', key = ''] = process.argv.slice(2)
const lags: number[] = []
const sealer = createSealer(await loadKeyFile(key))
const logger = createLog('error')
const member = await openMember({ folder, database, sealer, name: 'follows', version: 'bench', logger })
member.followed.onChange((changes) => {
  const now = Date.now()
  for (const { collection, value } of changes)
    if (collection === 'rooms' && value !== undefined) lags.push(now - value.created_at)
})
process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(lags)}\n`, () => process.exit(0))
})
process.stdout.write('follows\n')
