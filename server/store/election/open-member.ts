import { takeDataFolder } from '../files/data-folder.ts'
import { StoreVersionError } from '../migrations.ts'
import type { SiteMember } from './site-member.ts'
import { controllerId, idOfFolder } from './controller-id.ts'
import { parseDatabaseAddress } from '../postgres/database-address.ts'
import { DatabaseError } from '../postgres/database-error.ts'
import { ClusterMember } from './cluster-member.ts'
import type { MemberOptions } from './member-options.ts'
import { cannotBeUsed } from '../postgres/open-database.ts'
import { openRoomNumberFile } from '../postgres/room-number-file.ts'

/**
 * Joins the controllers of the site in a database: this controller follows the site in memory, and can lead it. The
 * data folder contains what belongs to this controller: keys, backups, the event log.
 * @throws DatabaseError when the database cannot be used (while it is unreachable: see `whenAway`)
 * @throws StoreVersionError when a newer Roomdesk wrote the database
 * @throws StoreLockedError when another process uses the data folder
 */
export async function openMember(options: MemberOptions): Promise<SiteMember> {
  const { folder, database, logger, whenAway = 'fail' } = options
  const address = parseDatabaseAddress(database)
  const { found, unlock } = await takeDataFolder(options, address.shown)
  let member: ClusterMember | undefined
  try {
    const id = await controllerId(folder)
    const roomNumbers = await openRoomNumberFile(folder, logger)
    const folderId = await idOfFolder(folder)
    member = new ClusterMember(options, { id, address, folderId, found, roomNumbers, unlock })
    await member.first.catch((error: unknown) => {
      if (error instanceof DatabaseError || error instanceof StoreVersionError) throw error
      if (whenAway === 'fail') throw cannotBeUsed(address, error)
    })
    return member
  } catch (error) {
    await (member === undefined ? unlock() : member.close())
    throw error
  }
}
