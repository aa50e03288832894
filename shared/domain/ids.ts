import { limits } from '../limits.ts'
import { bytes } from '../operation.ts'

/** Schema of a room_id in inputs. */
export const roomId = bytes(1, limits.roomExtendId)
/** Schema of the id of a person, camera or other user in inputs. */
export const userId = bytes(1, limits.userId)
