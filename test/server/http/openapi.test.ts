import SwaggerParser from '@apidevtools/swagger-parser'
import { expect, test } from 'vitest'
import { openApiDocument } from '../../../server/http/openapi.ts'
import { deviceOperations } from '../../../shared/device-operations.ts'
import { mediaOperations } from '../../../shared/media-operations.ts'

const documents = {
  media: openApiDocument('media', mediaOperations, '1.2.3'),
  device: openApiDocument('device', deviceOperations, '1.2.3'),
}

interface Operation {
  parameters: { name: string; required: boolean; schema: Record<string, unknown>; description?: string }[]
  requestBody?: { content: Record<string, { schema: { properties: object; required: string[] } }> }
  responses: {
    '200': { description: string; content: Record<string, { schema: { oneOf: { properties: object }[] } }> }
  }
}
const operation = (api: 'media' | 'device', path: string, method = 'get') =>
  (documents[api].paths as unknown as Record<string, Record<string, Operation>>)[path]?.[method]

test.each(['media', 'device'] as const)('the document of the %s API is valid OpenAPI 3.1', async (api) => {
  const valid = await SwaggerParser.validate(structuredClone(documents[api]) as never)
  expect(valid).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } })
})

test('the document lists every operation under every method', () => {
  expect(Object.keys(documents.media.paths as object)).toEqual(mediaOperations.map(({ path }) => path))
  for (const { path, methods } of deviceOperations) {
    expect(Object.keys((documents.device.paths as Record<string, object>)[path] ?? {})).toEqual(
      methods.map((method) => method.toLowerCase()),
    )
  }
})

test('parameters say whether they are required and which values they accept', () => {
  const parameters = operation('media', '/rtc/room/create')?.parameters ?? []
  const byName = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter]))
  expect(byName.topic).toMatchObject({ required: true, schema: { description: 'Must be 1 to 149 bytes of UTF-8.' } })
  expect(byName.room_mode).toMatchObject({ required: true, schema: { type: 'integer', minimum: 1, maximum: 4 } })
  expect(byName.max_video).toMatchObject({ required: false, schema: { type: 'integer', minimum: 0, maximum: 10_000 } })
  expect(byName.access_token).toMatchObject({
    required: true,
    description: 'Access token. Also accepted as access_tocken.',
  })
  expect(byName.callback).toMatchObject({ required: false })
  expect(operation('media', '/rtc/auth/valid')?.parameters.map(({ name, required }) => [name, required])).toEqual([
    ['access_key', true],
    ['digest', true],
    ['callback', false],
  ])
})

test('answers are the exact success or a failure with one of its documented rets', () => {
  const answer = operation('media', '/rtc/room/get')?.responses['200']
  const [success, failure] = answer?.content['application/json']?.schema.oneOf ?? []
  expect(Object.keys(success?.properties ?? {})).toEqual(
    'ret id room_id topic room_status owner_id host_password attendee_max max_audio max_video room_extend_id room_mode'.split(
      ' ',
    ),
  )
  expect(failure).toMatchObject({ properties: { ret: { enum: [404, 407, 602] } }, required: ['ret', 'msg'] })
  expect(answer?.description).toContain('| 404 | There is no such room. |')
  expect(answer?.content['text/javascript']).toBeDefined()
})

test('a POST of the device API takes a form or JSON, with the token', () => {
  const { requestBody } = operation('device', '/avd/api/outgoing/createOutgoingUser', 'post') ?? {}
  expect(Object.keys(requestBody?.content ?? {})).toEqual(['application/x-www-form-urlencoded', 'application/json'])
  expect(requestBody?.content['application/json']?.schema.required).toEqual(
    'roomId userId userName userAddress accessToken'.split(' '),
  )
})
