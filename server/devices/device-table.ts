import type { z } from 'zod'
import { complaintOfIssue } from '../../shared/domain/input-problems.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { RefusalError, problemAt } from '../../shared/domain/outcome.ts'
import { limits } from '../../shared/limits.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { inBulk } from '../rooms/bulk.ts'
import type { StoredDevice } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { SiteTags } from '../rooms/tags.ts'
import { joinedTags, splitTags } from '../../shared/tags.ts'
import { CsvError, type CsvRecord, formatCsv, parseCsv } from './csv.ts'
import { parseDeviceAddress } from '../../shared/device-address.ts'
import { assistAddressOf, loginNameOf } from './device-options.ts'
import { changedDevice } from './device-record.ts'
import type { OutgoingUsers } from './outgoing-users.ts'
import { deviceInput, type ImportLine } from '../../shared/domain/devices.ts'

/** Columns of the table. An import may omit columns that are not required, and may have them in any order. */
const columns = [
  'roomId',
  'userId',
  'userName',
  'userAddress',
  'userData',
  'login_name',
  'login_password',
  'assist_address',
  'tags',
] as const
type Column = (typeof columns)[number]
const required: readonly Column[] = ['roomId', 'userName', 'userAddress']

/** Validated line of an import; `device` is undefined if the line has an error. */
interface PlannedLine {
  shown: ImportLine
  device: z.output<typeof deviceInput> | undefined
}

/**
 * Imports and exports devices as CSV for spreadsheets. Passwords can be imported but are never exported: an empty
 * password keeps the stored password.
 */
export class DeviceTable {
  readonly #outgoing: OutgoingUsers
  readonly #store: Store
  readonly #tags: Pick<SiteTags, 'spelled'>
  readonly #logger: Pick<NodeLogger, 'error'>

  constructor(
    outgoing: OutgoingUsers,
    store: Store,
    tags: Pick<SiteTags, 'spelled'>,
    logger: Pick<NodeLogger, 'error'>,
  ) {
    this.#outgoing = outgoing
    this.#store = store
    this.#tags = tags
    this.#logger = logger
  }

  /** Returns all devices as CSV, without passwords. */
  export(): string {
    const rows = Array.from(this.#store.all('devices').values(), (device) => [
      device.roomId,
      device.userId,
      device.userName,
      device.userAddress,
      device.userData,
      loginNameOf(device),
      '',
      assistAddressOf(device),
      joinedTags(device.tags ?? []),
    ])
    return formatCsv([columns, ...rows])
  }

  /**
   * Returns the result that an import would have for each line, without changing anything.
   * @throws RefusalError 'invalid' if the text is not a device table
   */
  preview(text: string): ImportLine[] {
    return this.#plan(text).map(({ shown }) => shown)
  }

  /**
   * Applies the lines without errors, and returns the result of each line.
   * @throws RefusalError 'invalid' if the text is not a device table
   */
  async import(text: string): Promise<ImportLine[]> {
    const plan = this.#plan(text)
    const todo = new Map(
      plan.flatMap(({ shown, device }) =>
        device !== undefined && (shown.action === 'create' || shown.action === 'update')
          ? [[String(shown.line), { shown, device }] as const]
          : [],
      ),
    )
    await inBulk([...todo.keys()], this.#logger, async (key) => {
      const line = todo.get(key)
      if (line === undefined) return
      try {
        await this.#perform(line.shown, line.device)
      } catch (error) {
        line.shown.action = 'error'
        refuseLine(line.shown, error)
        throw error
      }
    })
    return plan.map(({ shown }) => shown)
  }

  async #perform(shown: ImportLine, given: z.output<typeof deviceInput>): Promise<void> {
    const tags = given.tags && (await this.#tags.spelled('devices', given.tags))
    const device = { ...given, tags }
    if (shown.action === 'create') {
      const created = await this.#outgoing.creation.add(device)
      shown.userId = created.userId
      return
    }
    const { userId, ...changes } = device
    if (userId !== undefined) await this.#outgoing.update(userId, changes)
  }

  #plan(text: string): PlannedLine[] {
    const [header, ...records] = readTable(text)
    if (header === undefined) throw new RefusalError(refusal('tableEmpty'))
    const order = readHeader(header)
    if (records.length > limits.devices) {
      throw new RefusalError(refusal('tableLimit', { limit: limits.devices }))
    }
    const seen = new Set<string>()
    return records.map((record) => this.#planLine(record, order, seen))
  }

  #planLine(record: CsvRecord, order: readonly Column[], seen: Set<string>): PlannedLine {
    const cells = Object.fromEntries(order.map((column, index) => [column, record.cells[index] ?? '']))
    const shown: ImportLine = {
      line: record.line,
      userId: cells.userId ?? '',
      userName: cells.userName ?? '',
      roomId: cells.roomId ?? '',
      action: 'error',
      message: '',
    }
    try {
      if (record.cells.length > order.length) throw new ApiError('parameter', { refusal: refusal('tableCells') })
      const empty = required.find((column) => (cells[column] ?? '').trim() === '')
      if (empty !== undefined)
        throw new ApiError('parameter', { refusal: refusal('tableCellEmpty', { line: record.line, column: empty }) })
      const device = readDevice(cells)
      if (shown.userId !== '' && seen.has(shown.userId)) {
        throw new ApiError('parameter', { refusal: refusal('tableUserTwice') })
      }
      seen.add(shown.userId)
      shown.action = this.#actionOf(device)
      return { shown, device }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refuseLine(shown, error)
      return { shown, device: undefined }
    }
  }

  #actionOf(device: z.output<typeof deviceInput>): ImportLine['action'] {
    parseDeviceAddress(device.userAddress)
    if (device.assist_address) parseDeviceAddress(device.assist_address, 'assist_address')
    if (this.#store.get('rooms', device.roomId) === undefined) throw new ApiError('roomNotFound')
    const { userId, ...changes } = device
    const before = userId === undefined ? undefined : this.#store.get('devices', userId)
    if (before === undefined) return 'create'
    return isChange(before, changedDevice(before, changes, this.#store)) ? 'update' : 'unchanged'
  }
}

function isChange(before: StoredDevice, after: StoredDevice): boolean {
  return before !== after
}

function readTable(text: string): CsvRecord[] {
  try {
    return parseCsv(text)
  } catch (error) {
    if (error instanceof CsvError) throw new RefusalError(error.refusal)
    throw error
  }
}

function readHeader({ cells }: CsvRecord): Column[] {
  const order = cells.map((cell) => {
    const column = columns.find((name) => name.toLowerCase() === cell.trim().toLowerCase())
    if (column === undefined) throw new RefusalError(refusal('tableColumnUnknown', { column: cell.slice(0, 40) }))
    return column
  })
  const missing = required.find((column) => !order.includes(column))
  if (missing !== undefined) throw new RefusalError(refusal('tableColumnMissing', { column: missing }))
  if (new Set(order).size < order.length) throw new RefusalError(refusal('tableColumnTwice'))
  return order
}

/**
 * Parses the device of a line. A missing column, and an empty login or userId, count as unspecified.
 * @throws ApiError parameter
 */
function readDevice(cells: Partial<Record<string, string>>): z.output<typeof deviceInput> {
  const silentWhenEmpty = new Set(['userId', 'login_name', 'login_password'])
  const given = Object.fromEntries(
    Object.entries(cells)
      .filter(([column, cell]) => cell !== '' || !silentWhenEmpty.has(column))
      .map(([column, cell = '']) => [column, column === 'tags' ? splitTags(cell) : cell]),
  )
  const parsed = deviceInput.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  if (issue === undefined) throw new ApiError('parameter')
  const field = issue.path.join('.')
  throw new ApiError('parameter', { field, complaint: complaintOfIssue(issue, given[field]) })
}

/** Records in a line why it is rejected. */
function refuseLine(shown: ImportLine, error: unknown): void {
  const { message, refusal: refused, field, complaint } = error instanceof ApiError ? error : new ApiError('internal')
  Object.assign(shown, { message, problem: problemAt(field ?? '', complaint ?? refused) })
}
