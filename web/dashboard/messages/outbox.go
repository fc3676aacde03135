package messages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	channels "github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// outboxView is the sandbox's page: what it took in, and what it was told to do.
type outboxView struct {
	ui.ListView

	Texts    *words
	Switches ui.FormView
	Told     ui.Pill
}

// outbox is what the project's sandbox took in, newest first.
func (s *Section) outbox(v *ui.Visit) (ui.Reply, error) {
	settings, err := s.sandbox(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.outboxPage(v, http.StatusOK, switches(v, settings), settings)
}

// sandbox is what the project's sandbox was told to do; without settings it
// accepts everything.
func (s *Section) sandbox(v *ui.Visit) (channels.SandboxSettings, error) {
	settings := channels.SandboxSettings{Behaviour: channels.SandboxAccept}
	list, err := s.queries.Channels(v.Context(), v.Member.Project.ID)
	if err != nil {
		return settings, fmt.Errorf("read the sandbox's settings: %w", err)
	}
	for _, channel := range list {
		if channel.Channel == models.ChannelSandbox {
			if err := json.Unmarshal(channel.Settings, &settings); err != nil {
				return settings, fmt.Errorf("read the sandbox's settings: %w", err)
			}
		}
	}
	return settings, nil
}

func (s *Section) outboxPage(v *ui.Visit, status int, form ui.FormView, settings channels.SandboxSettings) (ui.Reply, error) {
	w := wordsIn(v)
	at := parts.At(v, nil, func(id string) bool { return models.ValidID(models.PrefixMessage, id) })
	found, err := s.queries.Outbox(v.Context(), v.Member.Project.ID, store.Page{Before: at.Before, Limit: parts.RowsPerPage + 1})
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list the outbox: %w", err)
	}
	rows, more := parts.Cut(found)
	view := outboxView{Texts: w, Switches: form, Told: ui.Pill{Kind: ui.PillDelivered, Word: w.Behaviours[settings.Behaviour]}}
	if settings.Behaviour != channels.SandboxAccept {
		view.Told.Kind = ui.PillRetrying
	}
	view.ListView = ui.ListView{
		Shell: v.Shell(w.Outbox, ui.NavMessages), Tabs: tabs(v, true), Table: outboxTable(v, rows),
		Empty: ui.Empty{Title: w.OutboxEmpty, Text: w.OutboxEmptyText, Actions: []ui.Link{{Name: w.New, Address: Path + "/new"}}},
	}
	view.Head = ui.Head{Title: w.Outbox, Lead: w.OutboxLead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: pathOutbox}}
	last := ""
	if more {
		last = rows[len(rows)-1].MessageID
	}
	at.Fill(&view.ListView, more, last)
	return s.views.Render("outbox", status, view)
}

func outboxTable(v *ui.Visit, rows []store.SandboxMessage) ui.Table {
	w, shared := wordsIn(v), parts.WordsOf(v)
	table := ui.Table{Caption: w.Outbox, Columns: append(ui.Columns(shared.Message, shared.Text, shared.Contact, w.Receipt), ui.Column{Name: w.Times, Number: true})}
	table.Columns = append(table.Columns, ui.Column{Name: w.Taken})
	for _, m := range rows {
		table.Rows = append(table.Rows, []ui.Cell{
			ui.IDCell(parts.PathMessages, m.MessageID), {Text: parts.Excerpt(m.Text)}, ui.IDCell(parts.PathContacts, m.ContactID),
			{Text: ui.Visible(m.Receipt), Code: true}, {Text: v.Locale.Number(int64(m.Times))}, parts.Moment(v.Locale.Time(m.CreatedAt)),
		})
	}
	return table
}

// switches is the form that tells the sandbox what to do.
func switches(v *ui.Visit, settings channels.SandboxSettings) ui.FormView {
	w := wordsIn(v)
	behaviours := []channels.Behaviour{channels.SandboxAccept, channels.SandboxFail, channels.SandboxRefuse, channels.SandboxLose}
	return ui.FormView{
		Action: pathOutbox, Submit: w.SetSandbox,
		Fields: []ui.Field{
			{Name: "behaviour", Label: w.Behaviour, Kind: ui.FieldSelect, Options: ui.Choices(behaviours, w.Behaviours, string(settings.Behaviour))},
			{Name: "delay_ms", Label: w.Delay, Kind: "text", Value: strconv.Itoa(settings.DelayMS), Hint: w.DelayHint},
			{Name: "deliver", Label: w.Deliver, Kind: ui.FieldCheckbox, Value: on(settings.Deliver)},
			{Name: "blind", Label: w.Blind, Kind: ui.FieldCheckbox, Value: on(settings.Blind)},
		},
	}
}

func on(set bool) string {
	if set {
		return "yes"
	}
	return ""
}

// setSandbox tells the sandbox what to do, by the rules of the operator's command.
func (s *Section) setSandbox(v *ui.Visit) (ui.Reply, error) {
	posted, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	wanted := channels.SandboxSettings{
		Behaviour: channels.Behaviour(posted.Get("behaviour")), Deliver: posted.Has("deliver"), Blind: posted.Has("blind"),
	}
	raw := strings.TrimSpace(posted.Get("delay_ms"))
	settings, err := readSandbox(&wanted, raw)
	if err != nil {
		form := switches(v, wanted)
		form.Fields[1].Value = raw
		form.Blame(v.Locale, parts.WordsOf(v).NotValid, []models.FieldError{{Pointer: "/delay_ms", Code: models.FieldFormat, Detail: wordsIn(v).DelayWrong}})
		return s.outboxPage(v, http.StatusUnprocessableEntity, form, wanted)
	}
	_, err = s.desk.Do(v, parts.Deed{Action: "sandbox.set", Detail: string(wanted.Behaviour)}, func(_ context.Context, tx *store.Tx) (string, error) {
		return string(v.Member.Project.ID), tx.SetChannel(models.ChannelSandbox, settings)
	})
	if err != nil {
		return ui.Reply{}, err
	}
	reply := ui.Redirect(pathOutbox)
	reply.Notice = wordsIn(v).SandboxSet
	return reply, nil
}

// readSandbox judges the settings as the operator's command does.
func readSandbox(wanted *channels.SandboxSettings, delay string) (settings any, err error) {
	if wanted.DelayMS, err = strconv.Atoi(delay); err != nil {
		return nil, fmt.Errorf("read the delay: %w", err)
	}
	raw, err := json.Marshal(wanted)
	if err != nil {
		return nil, fmt.Errorf("encode the sandbox's settings: %w", err)
	}
	settings, _, err = channels.ParseSettings(models.ChannelSandbox, raw)
	return settings, err
}
