import { createLog } from '../../../server/observe/log.ts'
import { openMember } from '../../../server/store/election/cluster-member.ts'
import type { SiteMember } from '../../../server/store/election/site-member.ts'
import { loadKeyFile } from '../../../server/store/files/key-file.ts'
import { createSealer } from '../../../server/store/sealer.ts'

/** Opens the store of one controller of a site, in a process of its own. Arguments: data folder, address of the database, file with the site's key. */
export async function member(name: string): Promise<SiteMember> {
  const [folder = '', database = '', key = ''] = process.argv.slice(2)
  const sealer = createSealer(await loadKeyFile(key))
  return await openMember({ folder, database, sealer, name, version: 'bench', logger: createLog('error') })
}
