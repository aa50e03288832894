import type { Logger } from 'pino'
import type { Settings } from '../../shared/settings.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { PictureRounds } from '../devices/pictures/picture-rounds.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import type { Store } from '../store/store.ts'

/** Options of the pictures. */
interface PictureOptions {
  /** The data folder. */
  folder: string
  store: Store
  settings: () => Settings
  outgoing: OutgoingUsers
  logger: Logger
  /** undefined where no embedded node works. */
  media: EmbeddedNodes | undefined
}

/** Composes the kept pictures of cameras; those on other nodes than embedded ones have none. */
export function cameraPictures({ folder, store, settings, outgoing, logger, media }: PictureOptions): PictureRounds {
  return new PictureRounds({
    ...{ dataFolder: folder, store, settings, outgoing, logger },
    async take(roomId, userId) {
      const node = store.get('rooms', roomId)?.node ?? ''
      if (!media?.names.includes(node)) return undefined
      const signal = AbortSignal.timeout(settings().deadlines.node_ms)
      const client = await media.client(node, signal)
      const { picture } = await client.request('key_picture', { roomId, streamId: userId }, signal)
      return picture ?? undefined
    },
  })
}
