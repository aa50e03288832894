import type { AfterPackContext } from 'app-builder-lib'

export default function afterPack(packed: AfterPackContext): Promise<void>
