import { z } from 'zod'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'

/** `options` of clients in the field; unknown keys are ignored. */
const optionsSchema = z.object({
  ip_tag: z.string().max(64).optional(),
  idc_code: z.string().max(64).optional(),
})

/**
 * Returns the MCU of a client's room (specification, section 4.1; contract, section 3).
 * @throws ApiError parameter, and the errors of Rooms.mcuAddress
 */
export async function mcuOf(rooms: Rooms, roomId: string, options = ''): Promise<{ addr: string }> {
  const { ip_tag: ipTag, idc_code: idcCode } = parseOptions(options)
  return { addr: await rooms.mcuAddress(roomId, { ipTag, idcCode }) }
}

function parseOptions(text: string): z.output<typeof optionsSchema> {
  if (text === '') return {}
  try {
    return optionsSchema.parse(JSON.parse(text))
  } catch {
    throw new ApiError('parameter', {
      field: 'options',
      refusal: refusal('optionsNotJson', { example: '{"ip_tag":"local","idc_code":""}' }),
    })
  }
}
