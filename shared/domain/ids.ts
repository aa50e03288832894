import { limits } from '../limits.ts'
import { bytes } from '../operation.ts'

/** Number of a room in inputs. */
export const roomId = bytes(1, limits.roomExtendId)
/** Id of a user, person or camera, in inputs. */
export const userId = bytes(1, limits.userId)
