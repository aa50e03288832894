import type { Catalogue } from '../text.ts'
import { common } from './common.ts'
import { credentials } from './credentials.ts'
import { nodes } from './nodes.ts'
import { overview, welcome } from './overview.ts'
import { rooms } from './rooms.ts'

/** Every Chinese text. */
export const zh: Catalogue = { ...common, overview, welcome, credentials, rooms, nodes }
